"""Azure Queue Storage behind the product's own protocol."""
