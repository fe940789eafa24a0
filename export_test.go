package mcp

// Pending is the number of calls that wait for an answer.
func (c *Client) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// KnownTools is the number of tools that the client remembers.
func (c *Client) KnownTools() int {
	c.tools.get().mu.Lock()
	defer c.tools.get().mu.Unlock()
	return len(c.tools.get().tools)
}

// Topics is how many things the cache would take note of changes of.
func (c *Cache) Topics() int {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return len(c.store.topics)
}
