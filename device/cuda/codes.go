package cuda

// Codes of the driver that this package looks at.
const (
	codeInvalidValue   = 1
	codeOutOfMemory    = 2
	codeNotInitialized = 3
	codeStub           = 34
	codeUnavailable    = 46
	codeNoDevice       = 100
	codeInvalidPTX     = 218
	codeNotFound       = 500
	codeUnknown        = 999
)

// hints are what a user can do about a code of the driver.
var hints = map[int]string{
	codeInvalidValue:   "the call was given something that this card or driver doesn't take",
	codeOutOfMemory:    "the card has no memory left for it",
	codeNotInitialized: "the driver isn't open",
	codeStub:           "the library is a toolkit's stub and no driver: take its folder (lib64/stubs) out of LD_LIBRARY_PATH",
	codeUnavailable:    "another process has the card for itself, or nobody may use it: see the compute mode in nvidia-smi -q",
	codeNoDevice:       "the driver finds no card",
	101:                "no card has this number",
	200:                "this program's kernels are damaged",
	201:                "the card's context is gone",
	209:                "the kernels have no code for this card, and the driver can't make it",
	214:                "the card's memory is faulty (nvidia-smi -q -d ECC): take another card",
	codeInvalidPTX:     "the driver can't compile this program's kernels",
	220:                "a link between cards is faulty: take another card",
	221:                "the driver's compiler is missing: libnvidia-ptxjitcompiler.so.1 has to be where libcuda.so.1 is",
	222:                "the driver is too old for this program's kernels",
	304:                "the operating system refused it: the files /dev/nvidia* must be there, and readable and writable",
	codeNotFound:       "this program's kernels don't have it",
	700:                "a kernel read or wrote outside its memory",
	701:                "a block of this kernel has too many threads, registers or too much shared memory for this card",
	702:                "a kernel ran too long: this card also drives a screen, and the system stops what holds it up",
	709:                "the card was reset, or its context destroyed, while this program used it",
	710:                "a check in a kernel failed",
	714:                "a kernel's stack is damaged",
	715:                "a kernel has an instruction that this card doesn't know",
	716:                "a kernel read or wrote at an address that isn't aligned",
	717:                "a kernel read or wrote in the wrong kind of memory",
	718:                "a kernel jumped to where no code is",
	719:                "a kernel failed",
	800:                "this user may not do it",
	801:                "this driver or card can't do it",
	802:                "the machine's cards aren't ready: where they are joined by NVSwitch, the service nvidia-fabricmanager must run",
	803:                "the driver's library and its kernel module are of two versions: restart the machine after an update of the driver",
	804:                "a compatibility package of CUDA is installed that this card doesn't take: remove it (cuda-compat)",
	codeUnknown:        "the card or its driver is in a bad state: look at dmesg, reload the module nvidia_uvm, or restart the machine",
}

// loses says whether a code means that the context is lost: every later call in it fails as well.
func loses(code int) bool {
	switch code {
	case 4, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, codeUnknown:
		return true
	}
	return false
}

// unnamed is what is said of a fault of a kernel that a later call was told of.
const unnamed = "; it was queued earlier, and is named where each launch is waited for (Sync)"

// fromKernels says whether a code is that of a kernel that has run, which any later call may be told.
func fromKernels(code int) bool {
	return code == 700 || code == 702 || code == 710 || code >= 714 && code <= 719
}

// blasNames are the names of cuBLAS's statuses.
var blasNames = map[int]string{
	1:  "CUBLAS_STATUS_NOT_INITIALIZED",
	3:  "CUBLAS_STATUS_ALLOC_FAILED",
	7:  "CUBLAS_STATUS_INVALID_VALUE",
	8:  "CUBLAS_STATUS_ARCH_MISMATCH",
	11: "CUBLAS_STATUS_MAPPING_ERROR",
	13: "CUBLAS_STATUS_EXECUTION_FAILED",
	14: "CUBLAS_STATUS_INTERNAL_ERROR",
	15: "CUBLAS_STATUS_NOT_SUPPORTED",
	16: "CUBLAS_STATUS_LICENSE_ERROR",
}

// blasHints are what a user can do about a status of cuBLAS.
var blasHints = map[int]string{
	1:  "cuBLAS doesn't start: the card has no memory left for it, or the driver is older than this cuBLAS",
	3:  "the card has no memory left for cuBLAS",
	8:  "this cuBLAS doesn't know this card: install an older or newer one (11, 12 or 13)",
	13: "a kernel failed, of cuBLAS or one queued before it",
	15: "this cuBLAS doesn't have this product: install a newer one",
}

// blasError is the error of a call of cuBLAS, nil for status 0.
func blasError(call string, status int) error {
	if status == 0 {
		return nil
	}
	name := blasNames[status]
	if name == "" {
		name = "unknown status of cuBLAS"
	}
	return &Error{Call: call, Code: status, Text: name, Hint: blasHints[status]}
}
