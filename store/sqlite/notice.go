package sqlite

import (
	"math"
	"time"

	"coppice"
	"coppice/store"
	"coppice/store/sqlite/dbsqlc"
)

func noticeOf(r dbsqlc.Notice) (coppice.Notice, error) {
	var u unpacker
	n := coppice.Notice{
		ID: r.ID, Key: r.NoticeKey, ProjectID: r.ProjectID, TaskID: r.TaskID, At: at(r.At), DueAt: at(r.DueAt), EndedAt: at(r.EndedAt),
	}
	u.unpack(r.Details, &n.NoticeDetails)
	return n, u.err
}

func (r notices) ByKey(key string) (coppice.Notice, error) {
	return one(noticeOf, "notice", key)(r.q.NoticeByKey(r.ctx, key))
}

func (r notices) Due(then time.Time, most int) ([]coppice.Notice, error) {
	return many(noticeOf)(r.q.DueNotices(r.ctx, moment(then), int64(most)))
}

func (r notices) NextDue() (time.Time, error) {
	due, err := r.q.NextDueNotice(r.ctx)
	return at(due), ignoreNoRows(err)
}

func (r notices) KeptSince() (time.Time, error) {
	oldest, err := r.q.NoticesKeptSince(r.ctx, coppice.KeptNotices-1)
	return at(oldest), ignoreNoRows(err)
}

func (t notices) Put(n *coppice.Notice) error {
	var p packer
	row := dbsqlc.PutNoticeParams{
		ID: rowID(n.ID), NoticeKey: n.Key, ProjectID: n.ProjectID, TaskID: n.TaskID, At: moment(n.At), DueAt: moment(n.DueAt),
		EndedAt: moment(n.EndedAt), Details: p.pack(n.NoticeDetails),
	}
	return stored(t.tx, p, &n.ID, t.q.PutNotice, row)
}

func (t notices) Trim() error { return t.q.TrimNotices(t.ctx, coppice.KeptNotices) }

func notificationOf(r dbsqlc.Notification) (coppice.Notification, error) {
	var u unpacker
	n := coppice.Notification{ID: r.ID, Key: r.NotificationKey, Notifier: r.Notifier, At: at(r.At), EndedAt: at(r.EndedAt)}
	u.unpack(r.Details, &n.NotificationDetails)
	return n, u.err
}

func (r notifications) ByKey(key string) (coppice.Notification, error) {
	return one(notificationOf, "notification", key)(r.q.NotificationByKey(r.ctx, key))
}

func (r notifications) Open() ([]coppice.Notification, error) {
	return many(notificationOf)(r.q.OpenNotifications(r.ctx))
}

func (r notifications) List(f store.NotificationFilter) ([]coppice.Notification, error) {
	before, most := f.BeforeID, int64(f.Most)
	if before == 0 {
		before = math.MaxInt64
	}
	if most == 0 {
		most = -1
	}
	if f.Notifier == "" {
		return many(notificationOf)(r.q.Notifications(r.ctx, before, most))
	}
	return many(notificationOf)(r.q.NotificationsBy(r.ctx, f.Notifier, before, most))
}

func (t notifications) Put(n *coppice.Notification) error {
	var p packer
	row := dbsqlc.PutNotificationParams{
		ID: rowID(n.ID), NotificationKey: n.Key, Notifier: n.Notifier, At: moment(n.At), EndedAt: moment(n.EndedAt), Details: p.pack(n.NotificationDetails),
	}
	t.touch(store.TopicNotifications)
	if err := stored(t.tx, p, &n.ID, t.q.PutNotification, row); err != nil || n.EndedAt.IsZero() {
		return err
	}
	return t.q.TrimNotifications(t.ctx, coppice.KeptNotifications)
}
