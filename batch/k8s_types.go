package batch

// The part of the API group batch/v1 that a submission needs, with the API's
// own names. k8s.io/api would add 78 packages for it; what is written is held
// against the API server's own validation in the tests.

type k8sJob struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   k8sMeta    `json:"metadata"`
	Spec       k8sJobSpec `json:"spec"`
}

type k8sMeta struct {
	Name        string            `json:"name,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type k8sJobSpec struct {
	CompletionMode       string             `json:"completionMode"`
	Completions          int                `json:"completions"`
	Parallelism          int                `json:"parallelism"`
	BackoffLimitPerIndex int                `json:"backoffLimitPerIndex"`
	MaxFailedIndexes     *int               `json:"maxFailedIndexes,omitempty"`
	PodReplacementPolicy string             `json:"podReplacementPolicy"`
	PodFailurePolicy     k8sFailurePolicy   `json:"podFailurePolicy"`
	Template             k8sPodTemplateSpec `json:"template"`
}

type k8sFailurePolicy struct {
	Rules []k8sFailureRule `json:"rules"`
}

type k8sFailureRule struct {
	Action          string            `json:"action"`
	OnExitCodes     *k8sOnExitCodes   `json:"onExitCodes,omitempty"`
	OnPodConditions []k8sPodCondition `json:"onPodConditions,omitempty"`
}

type k8sOnExitCodes struct {
	ContainerName string `json:"containerName"`
	Operator      string `json:"operator"`
	Values        []int  `json:"values"`
}

type k8sPodCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

type k8sPodTemplateSpec struct {
	Metadata k8sMeta    `json:"metadata"`
	Spec     k8sPodSpec `json:"spec"`
}

type k8sPodSpec struct {
	RestartPolicy                 string            `json:"restartPolicy"`
	TerminationGracePeriodSeconds int               `json:"terminationGracePeriodSeconds"`
	ActiveDeadlineSeconds         int64             `json:"activeDeadlineSeconds,omitempty"`
	AutomountServiceAccountToken  bool              `json:"automountServiceAccountToken"`
	EnableServiceLinks            bool              `json:"enableServiceLinks"`
	NodeSelector                  map[string]string `json:"nodeSelector,omitempty"`
	Tolerations                   []k8sToleration   `json:"tolerations,omitempty"`
	Containers                    []k8sContainer    `json:"containers"`
	Volumes                       []k8sVolume       `json:"volumes,omitempty"`
}

type k8sToleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}

type k8sContainer struct {
	Name                     string       `json:"name"`
	Image                    string       `json:"image"`
	Command                  []string     `json:"command"`
	Resources                k8sResources `json:"resources"`
	TerminationMessagePolicy string       `json:"terminationMessagePolicy"`
	VolumeMounts             []k8sMount   `json:"volumeMounts,omitempty"`
}

type k8sResources struct {
	Requests map[string]string `json:"requests,omitempty"`
	Limits   map[string]string `json:"limits,omitempty"`
}

type k8sMount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

type k8sVolume struct {
	Name     string       `json:"name"`
	Claim    *k8sClaim    `json:"persistentVolumeClaim,omitempty"`
	HostPath *k8sHostPath `json:"hostPath,omitempty"`
}

type k8sClaim struct {
	ClaimName string `json:"claimName"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

type k8sHostPath struct {
	Path string `json:"path"`
	Type string `json:"type"`
}
