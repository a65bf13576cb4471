-- +goose Up

-- What Coppice and a project's features file last agreed on, as JSON, a row for
-- each feature.
CREATE TABLE features (
  project_id INTEGER NOT NULL REFERENCES projects (id),
  feature TEXT NOT NULL, -- its id in the file
  seen TEXT NOT NULL,
  PRIMARY KEY (project_id, feature)
) WITHOUT ROWID;
