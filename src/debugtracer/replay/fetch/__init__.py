"""One sample fetched again in a child process and followed through the user's own lines."""
