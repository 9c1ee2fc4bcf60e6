package engine_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	"konkanitrain/engine"
	"konkanitrain/op"
)

// A graph of two layers, with the gradients of both weights. Each value is called by its place in the network; the
// arena is planned to the byte; the gradients go straight into the flat buffer.
func ExampleCompile() {
	g := op.NewGraph()
	up, down := g.Input("up.weight", 16, 8), g.Input("down.weight", 5, 16)
	x := g.Input("x", 2, 3, 8) // [B, T, D]
	targets, lengths := g.IntInput("targets", 2, 2), g.IntInput("target_lengths", 2)

	g.At("up")
	h := g.Linear(x, up, nil)
	g.At("relu")
	h = g.Relu(h)
	g.At("down")
	logits := g.Linear(h, down, nil)
	g.At("loss")
	loss := g.Total(g.Input("scale", 1), op.Share{Loss: g.CrossEntropy(logits, targets, lengths, 0), Weight: 1})
	weights := []*G.Node{up, down}
	grads := g.Grad(loss, weights...)
	if err := g.Err(); err != nil {
		fmt.Println(err)
		return
	}
	program, err := engine.Compile(engine.Spec{Weights: weights, Grads: grads, Loss: loss})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(program)
	// Output:
	// 0 up[2×3×16] = linear{}(x, up.weight)
	//    1 relu[2×3×16] = relu{}(up)
	//    2 down[2×3×5] = linear{}(relu, down.weight)
	//    3 loss total.grad[2] = total.grad{weight=1}(1, scale)
	//    4 loss crossentropy.grad[2×3×5] = crossentropy.grad{smoothing=0}(loss total.grad, down, targets, target_lengths)
	//    5 down linear.dx[2×3×16] = linear.dx{}(loss crossentropy.grad, down.weight)
	//    6 grad(down.weight)[5×16] = linear.dw{}(loss crossentropy.grad, relu)
	//    7 relu relu.grad[2×3×16] = relu.grad{}(relu, down linear.dx)
	//    8 grad(up.weight)[16×8] = linear.dw{}(relu relu.grad, x)
	// arena 1088 bytes, 1088 live at most
	//       768 +192      steps start-8 x
	//       384 +16       steps start-4 targets
	//       448 +8        steps start-4 target_lengths
	//       576 +4        steps start-3 scale
	//         0 +384      steps 0-7 up
	//       960 +120      steps 2-6 down
	//       512 +8        steps 3-4 loss total.grad
	//       384 +384      steps 5-8 down linear.dx
}
