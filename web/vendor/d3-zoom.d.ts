export * from 'd3-zoom';
