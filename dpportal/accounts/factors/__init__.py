"""Second factors: an app for codes, passkeys, recovery codes, and which roles need one."""
