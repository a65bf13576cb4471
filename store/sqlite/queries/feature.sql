-- What was agreed on with projects' features files.

-- name: FeaturesOf :many
SELECT feature, seen FROM features WHERE project_id = @project_id;

-- name: PutFeature :exec
INSERT INTO features (project_id, feature, seen) VALUES (@project_id, @feature, @seen)
ON CONFLICT (project_id, feature) DO UPDATE SET seen = excluded.seen;

-- name: DropFeature :exec
DELETE FROM features WHERE project_id = @project_id AND feature = @feature;

-- name: ForgetFeatures :execrows
DELETE FROM features WHERE features.project_id = @project_id AND features.feature IN (
  SELECT f.feature FROM features f WHERE f.project_id = @project_id LIMIT @most
);
