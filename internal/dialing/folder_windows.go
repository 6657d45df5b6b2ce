package dialing

// homeFolder is what ~ stands for; empty if nobody says.
func homeFolder(getenv func(string) string) string { return getenv("USERPROFILE") }

// configFolder is %AppData%; empty if nobody says.
func configFolder(getenv func(string) string) string { return getenv("APPDATA") }
