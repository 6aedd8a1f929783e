export * from 'd3-quadtree';
