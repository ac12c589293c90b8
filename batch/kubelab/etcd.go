package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

func startEtcd(root string) (*embed.Etcd, string, error) {
	client, err := freePort()
	if err != nil {
		return nil, "", err
	}
	peer, err := freePort()
	if err != nil {
		return nil, "", err
	}
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(root, "etcd")
	cfg.LogLevel = "error"
	cfg.UnsafeNoFsync = true // nothing here outlives the process
	urls := func(port int) []url.URL {
		return []url.URL{{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}}
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = urls(client), urls(client)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = urls(peer), urls(peer)
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, "", err
	}
	select {
	case <-e.Server.ReadyNotify():
		return e, cfg.ListenClientUrls[0].String(), nil
	case <-time.After(time.Minute):
		e.Close()
		return nil, "", errors.New("not ready after a minute")
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
