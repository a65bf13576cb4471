package storetest

import (
	"fmt"
	"testing"
	"time"

	"coppice"
	"coppice/store"
)

// testNotices checks that notices are found in the order in which they are due, that a
// key is used once, that ended ones are bounded, and that they go with their task.
func testNotices(t *testing.T, open Open) {
	s := open(t)
	p := project(t, s, "app")
	end := func(k *coppice.Task) { k.Stage, k.Outcome = coppice.StageEnded, coppice.OutcomeDone }
	k, other := task(t, s, p, 1, end), task(t, s, p, 2, end)
	put := func(key string, due time.Duration, pr coppice.Priority, of int64) coppice.Notice {
		n := coppice.Notice{Key: key, TaskID: of, ProjectID: p.ID, At: start, DueAt: start.Add(due), NoticeDetails: coppice.NoticeDetails{Priority: pr}}
		update(t, s, func(tx store.Tx) error { return tx.Notices.Put(&n) })
		return n
	}
	due := func(at time.Duration, most int) (keys []string) {
		view(t, s, func(r store.Reader) error {
			list, err := r.Notices.Due(start.Add(at), most)
			for _, n := range list {
				keys = append(keys, n.Key)
			}
			return err
		})
		return keys
	}
	put("info", 0, coppice.PriorityInfo, k.ID)
	put("later", time.Hour, coppice.PriorityUrgent, k.ID)
	put("action", time.Second, coppice.PriorityAction, other.ID)
	urgent := put("urgent", time.Second, coppice.PriorityUrgent, k.ID)
	put("second", 0, coppice.PriorityUrgent, 0)

	same(t, "due after a second", []string{"info", "second", "action", "urgent"}, due(time.Second, 10))
	same(t, "due now", []string{"info", "second"}, due(0, 10))
	same(t, "the first one", []string{"info"}, due(time.Second, 1))
	err := s.Update(t.Context(), func(tx store.Tx) error { return tx.Notices.Put(&coppice.Notice{Key: "info"}) })
	wantCode(t, "a key that is in use", err, coppice.EConflict)

	urgent.EndedAt = start
	update(t, s, func(tx store.Tx) error { return tx.Notices.Put(&urgent) })
	same(t, "due after one has ended", []string{"info", "second", "action"}, due(time.Second, 10))
	update(t, s, func(tx store.Tx) error {
		for i := range coppice.KeptNotices {
			n := coppice.Notice{Key: fmt.Sprint("ended ", i), At: start.Add(time.Duration(i) * time.Minute), EndedAt: start}
			if err := tx.Notices.Put(&n); err != nil {
				return err
			}
		}
		return tx.Notices.Trim()
	})
	view(t, s, func(r store.Reader) error {
		wantCode(t, "the oldest ended notice", second(r.Notices.ByKey("urgent")), coppice.ENotFound)
		same(t, "the time since when all are kept", start, must(r.Notices.KeptSince()))
		same(t, "the next due time", start, must(r.Notices.NextDue()))
		return second(r.Notices.ByKey("ended 0"))
	})
	update(t, s, func(tx store.Tx) error {
		for more := true; more; {
			var err error
			if more, err = tx.Projects.Forget(p.ID, 10); err != nil {
				return err
			}
		}
		return nil
	})
	same(t, "due after the project is removed", []string(nil), due(2*time.Hour, 10))
}

// testNotifications checks the order of notifications, and that ended ones are bounded.
func testNotifications(t *testing.T, open Open) {
	s := open(t)
	update(t, s, func(tx store.Tx) error {
		for i := range coppice.KeptNotifications + 5 {
			n := coppice.Notification{Key: fmt.Sprint("n", i), Notifier: []string{"a", "b"}[i%2], At: start}
			if i > 1 {
				n.EndedAt = start
			}
			if err := tx.Notifications.Put(&n); err != nil {
				return err
			}
		}
		return nil
	})
	keys := func(list []coppice.Notification, err error) (keys []string) {
		for _, n := range list {
			keys = append(keys, n.Key)
		}
		if err != nil {
			t.Error(err)
		}
		return keys
	}
	view(t, s, func(r store.Reader) error {
		same(t, "open", []string{"n0", "n1"}, keys(r.Notifications.Open()))
		same(t, "newest", []string{"n504", "n503"}, keys(r.Notifications.List(store.NotificationFilter{Most: 2})))
		same(t, "newest of one", []string{"n503", "n501"}, keys(r.Notifications.List(store.NotificationFilter{Notifier: "b", Most: 2})))
		last := must(r.Notifications.ByKey("n501"))
		same(t, "before it", []string{"n499"}, keys(r.Notifications.List(store.NotificationFilter{Notifier: "b", BeforeID: last.ID, Most: 1})))
		same(t, "kept", coppice.KeptNotifications+2, len(must(r.Notifications.List(store.NotificationFilter{}))))
		wantCode(t, "the oldest ended one", second(r.Notifications.ByKey("n2")), coppice.ENotFound)
		return nil
	})
}
