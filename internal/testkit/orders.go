package testkit

// Orders calls f with a choice among n at every step, until it has made all choices, and returns
// how often.
func Orders(f func(choose func(n int) int)) (runs int) {
	var path, among []int
	for {
		at := 0
		f(func(n int) int {
			if at == len(path) {
				path, among = append(path, 0), append(among, n)
			}
			at++
			return path[at-1]
		})
		runs++
		for len(path) > 0 && path[len(path)-1] == among[len(path)-1]-1 {
			path, among = path[:len(path)-1], among[:len(among)-1]
		}
		if len(path) == 0 {
			return runs
		}
		path[len(path)-1]++
	}
}
