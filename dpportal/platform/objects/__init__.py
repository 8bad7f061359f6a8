"""Private files in an object store that speaks S3, and how a browser sends them there itself."""
