// SPDX-FileCopyrightText: 2026 AICR Runtime contributors
// SPDX-License-Identifier: GPL-3.0-or-later

//go:build tools

// Package tools names what programs.py builds, so that go.mod and go.sum pin all of it.
package tools

import _ "github.com/kyverno/chainsaw"
