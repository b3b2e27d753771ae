// SPDX-FileCopyrightText: 2026 AICR Runtime contributors
// SPDX-License-Identifier: GPL-3.0-or-later

// Program chainsaw answers for Chainsaw: it runs its operations assert and error, and says whether they passed.
//
// Chainsaw's own command cannot be built with Go 1.26, since its runner implements an interface inside of package
// testing. The operations do not need the runner. Questions are JSON, one a line; a question either brings the
// objects that there are, or is about the cluster of KUBECONFIG. Answers come in the same order.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/kyverno/chainsaw/pkg/apis"
	"github.com/kyverno/chainsaw/pkg/client"
	"github.com/kyverno/chainsaw/pkg/client/simple"
	fake "github.com/kyverno/chainsaw/pkg/client/testing"
	"github.com/kyverno/chainsaw/pkg/engine/operations"
	opassert "github.com/kyverno/chainsaw/pkg/engine/operations/assert"
	operror "github.com/kyverno/chainsaw/pkg/engine/operations/error"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	patience = time.Minute
	atOnce   = 64
)

var errAskedAgain = errors.New("did not pass when it was looked at")

// once lets an operation look at the objects a single time, after which it would wait for them to change.
type once struct {
	client.Client
	looked bool
}

func (c *once) Get(within context.Context, key ctrlclient.ObjectKey, into ctrlclient.Object, options ...ctrlclient.GetOption) error {
	if c.looked {
		return errAskedAgain
	}
	c.looked = true
	return c.Client.Get(within, key, into, options...)
}

func (c *once) List(within context.Context, into ctrlclient.ObjectList, options ...ctrlclient.ListOption) error {
	if c.looked {
		return errAskedAgain
	}
	c.looked = true
	return c.Client.List(within, into, options...)
}

type question struct {
	Operation string                      `json:"operation"`
	Resource  unstructured.Unstructured   `json:"resource"`
	Objects   []unstructured.Unstructured `json:"objects"`
}

type answer struct {
	Passed bool   `json:"passed"`
	Error  string `json:"error,omitempty"`
}

func main() {
	var questions []question
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var one question
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		questions = append(questions, one)
	}
	cluster := sync.OnceValue(connect)
	answers := make([]answer, len(questions))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i := range questions {
		slots <- struct{}{}
		all.Add(1)
		go func() {
			defer func() { <-slots; all.Done() }()
			answers[i] = judge(questions[i], cluster)
		}()
	}
	all.Wait()
	for _, one := range answers {
		text, _ := json.Marshal(one)
		fmt.Println(string(text))
	}
}

func judge(asked question, cluster func() client.Client) (found answer) {
	defer func() {
		if trouble := recover(); trouble != nil {
			found = answer{Error: fmt.Sprint("panic: ", trouble)}
		}
	}()
	of := client.Client(nil)
	if asked.Objects == nil {
		of = cluster()
	} else {
		of = among(asked.Objects)
	}
	of = &once{Client: of}
	var operation operations.Operation
	if asked.Operation == "error" {
		operation = operror.New(apis.DefaultCompilers, of, asked.Resource, nil, false)
	} else {
		operation = opassert.New(apis.DefaultCompilers, of, asked.Resource, nil, false)
	}
	within, end := context.WithTimeout(context.Background(), patience)
	defer end()
	if _, err := operation.Exec(within, nil); err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Passed: true}
}

func connect() client.Client {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		panic(err)
	}
	config.QPS, config.Burst = 1000, 1000
	found, err := simple.New(config)
	if err != nil {
		panic(err)
	}
	return found
}

// among is a cluster that holds these objects and no others.
func among(objects []unstructured.Unstructured) client.Client {
	return &fake.FakeClient{
		GetFn: func(_ context.Context, _ int, key ctrlclient.ObjectKey, into ctrlclient.Object, _ ...ctrlclient.GetOption) error {
			for _, one := range objects {
				if one.GetName() == key.Name && one.GetNamespace() == key.Namespace {
					one.DeepCopyInto(into.(*unstructured.Unstructured))
					return nil
				}
			}
			return kerrors.NewNotFound(schema.GroupResource{}, key.Name)
		},
		ListFn: func(_ context.Context, _ int, into ctrlclient.ObjectList, options ...ctrlclient.ListOption) error {
			var chosen ctrlclient.ListOptions
			chosen.ApplyOptions(options)
			list := into.(*unstructured.UnstructuredList)
			for _, one := range objects {
				named := chosen.Namespace == "" || one.GetNamespace() == chosen.Namespace
				if named && (chosen.LabelSelector == nil || chosen.LabelSelector.Matches(labels.Set(one.GetLabels()))) {
					list.Items = append(list.Items, one)
				}
			}
			return nil
		},
	}
}
