//go:build linux

package hsaabi

// knownExtension says whether a number is of an extension that HSA or AMD has.
func knownExtension(extension uint16) bool {
	return extension <= HSA_EXTENSION_STD_LAST || extension >= HSA_AMD_FIRST_EXTENSION && extension <= HSA_AMD_LAST_EXTENSION
}

// hsaAgentExtensionSupported says whether a card has an extension of a version, as its HSA_AGENT_INFO_EXTENSIONS does. Versions are compared as AMD's
// library compares them, which has 1.0 and whatever is before it; of the extension it asks nothing but that there is such a number.
func hsaAgentExtensionSupported(extension uint16, agent uint64, major, minor uint16, result *bool) status {
	if !knownExtension(extension) {
		return HSA_STATUS_ERROR_INVALID_ARGUMENT
	}
	*result = false
	a, st := current.Load().agent(agent)
	if st != HSA_STATUS_SUCCESS {
		return st
	}
	if _, ok := a.(*card); ok {
		bits := extensions()
		*result = bits[extension/8]>>(extension%8)&1 == 1 && major <= versionMajor && minor == 0
	}
	return HSA_STATUS_SUCCESS
}

// hsaAgentMajorExtensionSupported does so for a major version, of which it tells the minor one.
func hsaAgentMajorExtensionSupported(extension uint16, agent uint64, major uint16, minor *uint16, result *bool) status {
	st := hsaAgentExtensionSupported(extension, agent, major, 0, result)
	if st == HSA_STATUS_SUCCESS && *result {
		*minor = 0
	}
	return st
}
