package host_test

// playVar makes the test binary play a server instead of running the tests.
const playVar = "HOST_TEST_PLAY"

// plays are the servers, by what they do.
var plays = map[string]func(){}
