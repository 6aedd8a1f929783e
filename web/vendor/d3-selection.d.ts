export * from 'd3-selection';
