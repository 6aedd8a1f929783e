"""Storage: named queries in files, one repository over two engines."""
