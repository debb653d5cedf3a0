"""What the README's sentences mean in numbers."""
