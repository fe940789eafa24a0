package mcp

import (
	"fmt"
	"slices"
)

// Revisions of the protocol that this client speaks.
const (
	Version20241105 = "2024-11-05"
	Version20250326 = "2025-03-26"
	Version20250618 = "2025-06-18"
	Version20251125 = "2025-11-25"
)

// allVersions are the revisions that the client speaks, newest first.
var allVersions = []string{Version20251125, Version20250618, Version20250326, Version20241105}

// acceptedVersions checks what the caller accepts; nil means everything.
func acceptedVersions(versions []string) ([]string, error) {
	if versions == nil {
		return allVersions, nil
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("Options.Versions is empty: no revision could be agreed on")
	}
	for _, v := range versions {
		if !slices.Contains(allVersions, v) {
			return nil, fmt.Errorf("Options.Versions: unknown revision %q", v)
		}
	}
	// Revisions are dates: the newest comes first whatever the order given.
	versions = slices.Clone(versions)
	slices.Sort(versions)
	slices.Reverse(versions)
	return slices.Compact(versions), nil
}
