package main

import (
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd runs a one-member etcd in dir and returns the address its clients use.
//
// It listens without TLS: on loopback, on a port nobody knows beforehand, with nothing in it but a
// test's own objects.
func startEtcd(dir string) (*embed.Etcd, string, error) {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}

	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = anyPort, anyPort
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = anyPort, anyPort
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	// The data do not outlive the process, so there is no crash to be safe from.
	cfg.UnsafeNoFsync = true
	cfg.EnableGRPCGateway = false
	cfg.LogLevel = "error"
	cfg.LogOutputs = []string{filepath.Join(dir, "etcd.log")}

	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, "", fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, "http://" + etcd.Clients[0].Addr().String(), nil
	case err := <-etcd.Err():
		return nil, "", fmt.Errorf("etcd: %w", err)
	case <-time.After(30 * time.Second):
		return nil, "", fmt.Errorf("etcd was not ready after 30 s")
	}
}
