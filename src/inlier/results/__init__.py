"""What a fit returns."""
