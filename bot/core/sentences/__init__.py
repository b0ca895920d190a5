"""Every sentence the bot itself says to a person, in English and Chinese, by what it is about."""
