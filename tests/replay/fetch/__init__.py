"""A sample fetched again, line by line."""
