package greet

import "fmt"

// Hello greets a person.
func Hello(name string) string {
	return fmt.Sprintf("hello, %s", name)
}

func step01() int { return 1 }

func step02() int { return 2 }

func step03() int { return 3 }

func step04() int { return 4 }

func step05() int { return 5 }

func step06() int { return 6 }

func step07() int { return 7 }

func step08() int { return 8 }

func step09() int { return 9 }

func step10() int { return 10 }

func step11() int { return 11 }

func step12() int { return 12 }

func step13() int { return 13 }

func step14() int { return 14 }

func step15() int { return 15 }

func step16() int { return 16 }

func step17() int { return 17 }

func step18() int { return 18 }

func step19() int { return 19 }

func step20() int { return 20 }

func step21() int { return 21 }

func step22() int { return 22 }

func step23() int { return 23 }

func step24() int { return 24 }

func step25() int { return 25 }

func step26() int { return 26 }

func step27() int { return 27 }

func step28() int { return 28 }

func step29() int { return 29 }

func step30() int { return 30 }

// Farewell says goodbye.
func Farewell(name string) string {
	return "bye"
}
