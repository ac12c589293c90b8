package k8s

// The part of the API group batch/v1 that a submission needs, with the API's
// own names. k8s.io/api would add 78 packages for it; what is written is held
// against the API server's own validation in the tests.

type jobManifest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       jobSpec  `json:"spec"`
}

type metadata struct {
	Name        string            `json:"name,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type jobSpec struct {
	CompletionMode       string          `json:"completionMode"`
	Completions          int             `json:"completions"`
	Parallelism          int             `json:"parallelism"`
	BackoffLimitPerIndex int             `json:"backoffLimitPerIndex"`
	MaxFailedIndexes     *int            `json:"maxFailedIndexes,omitempty"`
	PodReplacementPolicy string          `json:"podReplacementPolicy"`
	PodFailurePolicy     failurePolicy   `json:"podFailurePolicy"`
	Template             podTemplateSpec `json:"template"`
}

type failurePolicy struct {
	Rules []failureRule `json:"rules"`
}

type failureRule struct {
	Action          string         `json:"action"`
	OnExitCodes     *onExitCodes   `json:"onExitCodes,omitempty"`
	OnPodConditions []podCondition `json:"onPodConditions,omitempty"`
}

type onExitCodes struct {
	ContainerName string `json:"containerName"`
	Operator      string `json:"operator"`
	Values        []int  `json:"values"`
}

type podCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

type podTemplateSpec struct {
	Metadata metadata `json:"metadata"`
	Spec     podSpec  `json:"spec"`
}

type podSpec struct {
	RestartPolicy                 string            `json:"restartPolicy"`
	TerminationGracePeriodSeconds int               `json:"terminationGracePeriodSeconds"`
	ActiveDeadlineSeconds         int64             `json:"activeDeadlineSeconds,omitempty"`
	AutomountServiceAccountToken  bool              `json:"automountServiceAccountToken"`
	EnableServiceLinks            bool              `json:"enableServiceLinks"`
	NodeSelector                  map[string]string `json:"nodeSelector,omitempty"`
	Tolerations                   []toleration      `json:"tolerations,omitempty"`
	Containers                    []container       `json:"containers"`
	Volumes                       []podVolume       `json:"volumes,omitempty"`
}

type toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}

type container struct {
	Name                     string             `json:"name"`
	Image                    string             `json:"image"`
	Command                  []string           `json:"command"`
	Resources                containerResources `json:"resources"`
	TerminationMessagePolicy string             `json:"terminationMessagePolicy"`
	VolumeMounts             []volumeMount      `json:"volumeMounts,omitempty"`
}

type containerResources struct {
	Requests map[string]string `json:"requests,omitempty"`
	Limits   map[string]string `json:"limits,omitempty"`
}

type volumeMount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

type podVolume struct {
	Name     string       `json:"name"`
	Claim    *volumeClaim `json:"persistentVolumeClaim,omitempty"`
	HostPath *hostPath    `json:"hostPath,omitempty"`
}

type volumeClaim struct {
	ClaimName string `json:"claimName"`
	ReadOnly  bool   `json:"readOnly,omitempty"`
}

type hostPath struct {
	Path string `json:"path"`
	Type string `json:"type"`
}
