#include "textflag.h"

// The mask of n columns begins n numbers before the middle.
DATA mask<>+0(SB)/8, $-1
DATA mask<>+8(SB)/8, $-1
DATA mask<>+16(SB)/8, $-1
DATA mask<>+24(SB)/8, $-1
DATA mask<>+32(SB)/8, $-1
DATA mask<>+40(SB)/8, $-1
DATA mask<>+48(SB)/8, $-1
DATA mask<>+56(SB)/8, $-1
GLOBL mask<>(SB), RODATA|NOPTR, $128

#define LOAD(from, left, right) \
	VMOVUPD (from), left    \
	VMOVUPD 32(from), right

#define STORE(to, left, right) \
	VMOVUPD left, (to)    \
	VMOVUPD right, 32(to)

#define LOADPART(from, left, right) \
	VMASKMOVPD (from), Y13, left    \
	VMASKMOVPD 32(from), Y14, right

#define STOREPART(to, left, right) \
	VMASKMOVPD left, Y13, (to)    \
	VMASKMOVPD right, Y14, 32(to)

// The tile, as it is in C.
#define TILE(move) \
	move(R10, Y0, Y1) \
	move(R11, Y2, Y3) \
	move(R12, Y4, Y5) \
	move(R13, Y6, Y7)

// A row of the tile. Products are rounded before they are added, and the operands are in
// the order of gonum's GemvT, which decides on the one of two NaNs that is kept.
#define ROW(at, left, right) \
	VBROADCASTSD at(SI), Y10     \
	VMULPD       Y10, Y8, Y11    \
	VMULPD       Y10, Y9, Y12    \
	VADDPD       Y11, left, left \
	VADDPD       Y12, right, right

#define BEGIN \
	MOVQ a+16(FP), SI    \
	MOVQ DX, DI          \
	MOVQ depth+8(FP), BX

#define STEP \
	ROW(0, Y0, Y1)  \
	ROW(8, Y2, Y3)  \
	ROW(16, Y4, Y5) \
	ROW(24, Y6, Y7) \
	ADDQ $32, SI    \
	ADDQ R8, DI     \
	DECQ BX

// func addTiles(n, depth int, a *[4]float64, b *float64, ldb int, c0, c1, c2, c3 *float64)
TEXT ·addTiles(SB), NOSPLIT, $0-72
	MOVQ n+0(FP), CX
	MOVQ b+24(FP), DX
	MOVQ ldb+32(FP), R8
	MOVQ c0+40(FP), R10
	MOVQ c1+48(FP), R11
	MOVQ c2+56(FP), R12
	MOVQ c3+64(FP), R13
	SHLQ $3, R8
	SUBQ $8, CX
	JLT  part

tile:
	TILE(LOAD)
	BEGIN

step:
	PREFETCHT0 120(DI) // of the next tile
	LOAD(DI, Y8, Y9)
	STEP
	JNZ  step
	TILE(STORE)
	ADDQ $64, R10
	ADDQ $64, R11
	ADDQ $64, R12
	ADDQ $64, R13
	ADDQ $64, DX
	SUBQ $8, CX
	JGE  tile

part:
	ADDQ    $8, CX
	JZ      end
	LEAQ    mask<>+64(SB), R9
	SHLQ    $3, CX
	SUBQ    CX, R9
	VMOVUPD (R9), Y13
	VMOVUPD 32(R9), Y14
	TILE(LOADPART)
	BEGIN

partstep:
	LOADPART(DI, Y8, Y9)
	STEP
	JNZ partstep
	TILE(STOREPART)

end:
	VZEROUPPER
	RET

// func hasAVX() bool
TEXT ·hasAVX(SB), NOSPLIT, $0-1
	MOVL   $1, AX
	CPUID
	ANDL   $(3<<27), CX // the processor has AVX, and the system enabled XGETBV,
	CMPL   CX, $(3<<27)
	JNE    no
	XORL   CX, CX
	XGETBV
	ANDL   $6, AX       // and it keeps the registers
	CMPL   AX, $6
no:
	SETEQ  ret+0(FP)
	RET
