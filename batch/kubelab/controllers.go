package main

import (
	"context"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
)

// startControllers starts the controllers that Jobs need. Without the garbage
// collector a deleted Job's pods would stay.
func startControllers(ctx context.Context, s *apiServer) error {
	shared := informers.NewSharedInformerFactory(s.client, 0)
	jobs, err := job.NewController(ctx, shared.Core().V1().Pods(), shared.Batch().V1().Jobs(), s.client)
	if err != nil {
		return err
	}
	ttl := ttlafterfinished.New(ctx, shared.Batch().V1().Jobs(), s.client)
	c, err := s.config()
	if err != nil {
		return err
	}
	meta, err := metadata.NewForConfig(c)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(s.client.Discovery()))
	metaShared := metadatainformer.NewSharedInformerFactory(meta, 0)
	started := make(chan struct{})
	gc, err := garbagecollector.NewGarbageCollector(ctx, s.client, meta, mapper, garbagecollector.DefaultIgnoredResources(),
		informerfactory.NewInformerFactory(shared, metaShared), started)
	if err != nil {
		return err
	}
	shared.Start(ctx.Done())
	metaShared.Start(ctx.Done())
	close(started)
	go jobs.Run(ctx, 2)
	go ttl.Run(ctx, 1)
	go gc.Run(ctx, 2, 5*time.Second)
	go gc.Sync(ctx, s.client.Discovery(), 30*time.Second)
	return nil
}
