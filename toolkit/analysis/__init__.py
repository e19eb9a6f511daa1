"""What runs and reports say: configurations, comparisons, limits, advice. Pure: records in, values out."""
