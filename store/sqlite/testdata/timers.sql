-- Timers of an earlier version. Two of these kinds no longer exist.
INSERT INTO timers (kind, id, at) VALUES ('agent', 'ann', 1), ('trash', '7', 9), ('room', 'room', 2);
