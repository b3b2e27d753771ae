// SPDX-FileCopyrightText: 2026 AICR Runtime contributors
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build tools

// Package tools names what programs.py builds, so that go.mod and go.sum pin all of it.
package tools

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kube-scheduler"
)
