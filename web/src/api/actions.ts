// Code generated from the table of verbs by `make generate`. DO NOT EDIT.

export const actions = [
  {"about":"Land it after its checks have passed, or retry a landing that waits","done":"lands","head":true,"id":"land","name":"Land","path":"/api/v1/tasks/{key}/land"},
  {"about":"Continue it in its last conversation","done":"continues","id":"continue","images":true,"name":"Continue","path":"/api/v1/tasks/{key}/continue","prompt":"What should it do now?","text":"text"},
  {"about":"Retry it","bare":true,"done":"is retried","id":"retry","images":true,"name":"Retry","path":"/api/v1/tasks/{key}/retry","prompt":"What should it do differently? (optional)","staff":true,"text":"note"},
  {"about":"Interrupt the agent's turn, but keep its session","bare":true,"done":"is interrupted","id":"interrupt","name":"Interrupt","path":"/api/v1/tasks/{key}/interrupt","prompt":"What should it do instead? (optional)","text":"text"},
  {"about":"Stop the running session and restart it in its workspace","bare":true,"done":"goes back to the queue","id":"requeue","images":true,"name":"Requeue","path":"/api/v1/tasks/{key}/requeue","prompt":"What should it do differently? (optional)","staff":true,"text":"note"},
  {"about":"Stop it and its session","danger":true,"done":"stops","id":"stop","name":"Stop","path":"/api/v1/tasks/{key}/stop"},
  {"about":"Give it back to Coppice, which continues in the same conversation","done":"continues","id":"give","images":true,"name":"Give back","path":"/api/v1/tasks/{key}/give","prompt":"What did you do? (optional)","text":"text"},
  {"about":"Continue it yourself on the agent's own screen","done":"is yours: open its terminal, or run coppice attach with its key","id":"take","more":true,"name":"Take over","path":"/api/v1/tasks/{key}/take"},
  {"about":"Start the app of its workspace, to look at it","done":"starts its app","id":"preview","more":true,"name":"Start preview","path":"/api/v1/tasks/{key}/preview"},
  {"about":"Stop the app of its workspace","done":"stops its app","id":"stop-preview","method":"DELETE","more":true,"name":"Stop preview","path":"/api/v1/tasks/{key}/preview"},
  {"about":"Continue with another model, immediately if the agent can","done":"changes its model","id":"model","more":true,"name":"Change the model","path":"/api/v1/tasks/{key}/model","prompt":"Name of the model, or auto","required":true,"text":"model"},
  {"about":"Create a new task that continues with a copy of this conversation and branch","done":"was forked","id":"fork","more":true,"name":"Fork","path":"/api/v1/tasks/{key}/fork","prompt":"What should the copy do? (optional)","text":"text"},
  {"about":"Take its landing off the branch: the branch moves back, or a commit reverts it","danger":true,"done":"is reverted","id":"revert","name":"Revert","path":"/api/v1/tasks/{key}/revert"},
  {"about":"Continue it as it was, in its workspace and conversation","done":"continues as it was","id":"unstop","more":true,"name":"Undo stop","path":"/api/v1/tasks/{key}/unstop"},
  {"about":"Restore its removed workspace","done":"","id":"undo","more":true,"name":"Undo removal","path":"/api/v1/undo"},
  {"about":"Remove it from the board; it stays in search, usage and history","done":"is archived","id":"archive","more":true,"name":"Archive","path":"/api/v1/tasks/{key}/archive"},
  {"about":"Show it on the board again","done":"is back on the board","id":"unarchive","more":true,"name":"Unarchive","path":"/api/v1/tasks/{key}/unarchive"},
] as const;
