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
	Version20260728 = "2026-07-28"
)

// allVersions are the revisions that the client speaks, newest first.
var allVersions = []string{Version20260728, Version20251125, Version20250618, Version20250326, Version20241105}

// isModern reports whether a revision carries everything with each request (2026-07-28 and later); the legacy ones
// begin with a handshake (basic/versioning). Revisions are dates, and compare as text.
func isModern(version string) bool { return version >= Version20260728 }

// modernVersions and legacyVersions are the two parts of a list that has the newest first.
func modernVersions(versions []string) []string { return versions[:firstLegacy(versions)] }
func legacyVersions(versions []string) []string { return versions[firstLegacy(versions):] }

func firstLegacy(versions []string) int {
	for i, v := range versions {
		if !isModern(v) {
			return i
		}
	}
	return len(versions)
}

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
