package sqlite

import (
	"coppice"
	"coppice/store/sqlite/dbsqlc"
)

func questionOf(r dbsqlc.Question) (coppice.Question, error) {
	var u unpacker
	q := coppice.Question{
		ID: r.ID, TaskID: r.TaskID, SessionID: r.SessionID, Ref: r.Ref, Kind: r.Kind, Text: r.Text, Rule: unpackPtr[coppice.Rule](&u, r.Rule),
		Options: unpackValue[[]string](&u, r.Options), Descriptions: unpackValue[[]string](&u, r.Descriptions), Several: r.Several, AskedAt: at(r.AskedAt), Answer: r.Answer,
		AnsweredAt: at(r.AnsweredAt), ClosedAt: at(r.ClosedAt), Until: at(r.Until),
	}
	return q, u.err
}

func (r questions) Get(id int64) (coppice.Question, error) {
	return one(questionOf, "question", id)(r.q.Question(r.ctx, id))
}

func (r questions) Of(task int64) ([]coppice.Question, error) {
	return many(questionOf)(r.q.QuestionsOf(r.ctx, task))
}

func (r questions) Open(task int64) (*coppice.Question, error) {
	return oneOrNone(questionOf)(r.q.OpenQuestion(r.ctx, task))
}

func (r questions) OpenOfEach(tasks []int64) (map[int64]coppice.Question, error) {
	return keyed(questionOf, func(q coppice.Question) int64 { return q.TaskID })(ofIDs(r.ctx, r.q.OpenQuestions, tasks))
}

func (r questions) OfEach(tasks []int64) (map[int64][]coppice.Question, error) {
	return grouped(questionOf, func(q coppice.Question) int64 { return q.TaskID })(ofIDs(r.ctx, r.q.QuestionsOfEach, tasks))
}

func (t questions) Put(q *coppice.Question) error {
	var p packer
	row := dbsqlc.PutQuestionParams{
		ID: rowID(q.ID), TaskID: q.TaskID, SessionID: q.SessionID, Ref: q.Ref, Kind: q.Kind, Text: q.Text, Rule: packPtr(&p, q.Rule),
		Options: packList(&p, q.Options), Descriptions: packList(&p, q.Descriptions), Several: q.Several, AskedAt: moment(q.AskedAt), Answer: q.Answer,
		AnsweredAt: moment(q.AnsweredAt), ClosedAt: moment(q.ClosedAt), Until: moment(q.Until),
	}
	return stored(t.tx, p, &q.ID, t.q.PutQuestion, row)
}

func messageOf(r dbsqlc.Message) (coppice.Message, error) {
	var u unpacker
	m := coppice.Message{
		ID: r.ID, TaskID: r.TaskID, SessionID: r.SessionID, Kind: r.Kind, Text: r.Text, From: r.Sender,
		SentAt: at(r.SentAt), DeliveredAt: at(r.DeliveredAt), Failed: r.Failed, Images: unpackValue[[]string](&u, r.Images),
	}
	return m, u.err
}

func (r messages) Of(task int64) ([]coppice.Message, error) {
	return many(messageOf)(r.q.MessagesOf(r.ctx, task))
}

func (r messages) OfEach(tasks []int64) (map[int64][]coppice.Message, error) {
	return grouped(messageOf, func(m coppice.Message) int64 { return m.TaskID })(ofIDs(r.ctx, r.q.MessagesOfEach, tasks))
}

func (t messages) Put(m *coppice.Message) error {
	var p packer
	row := dbsqlc.PutMessageParams{
		ID: rowID(m.ID), TaskID: m.TaskID, SessionID: m.SessionID, Kind: m.Kind, Text: m.Text, Sender: m.From,
		SentAt: moment(m.SentAt), DeliveredAt: moment(m.DeliveredAt), Failed: m.Failed, Images: packList(&p, m.Images),
	}
	return stored(t.tx, p, &m.ID, t.q.PutMessage, row)
}
