package families

// PathLoss is the bound by weights of the inputs.
var PathLoss = pathLoss
