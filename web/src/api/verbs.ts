// Code generated from the table of verbs by `make generate`. DO NOT EDIT.

export interface Verb {
  id: string;
  name: string;
  about: string;
  done: string;
  text?: string; // the name of its text in requests
  prompt?: string;
  bare?: boolean;
  staff?: boolean;
  danger?: boolean;
  more?: boolean;
}

export const verbs: Verb[] = [
  {"about":"Land it after its checks have passed, or retry a landing that waits","done":"lands","id":"land","name":"Land"},
  {"about":"Continue it in its last conversation","done":"continues","id":"continue","name":"Continue","prompt":"What should it do now?","text":"text"},
  {"about":"Retry it","bare":true,"done":"is retried","id":"retry","name":"Retry","prompt":"What should it do differently? (optional)","text":"note"},
  {"about":"Stop the running session and restart it in its workspace","bare":true,"done":"goes back to the queue","id":"requeue","name":"Requeue","prompt":"What should it do differently? (optional)","staff":true,"text":"note"},
  {"about":"Stop it and its session","danger":true,"done":"stops","id":"stop","name":"Stop"},
  {"about":"Give it back to Coppice, which continues in the same conversation","done":"continues","id":"give","name":"Give back","prompt":"What did you do? (optional)","text":"text"},
  {"about":"Continue it yourself on the agent's own screen","done":"is yours: open its terminal, or run coppice attach with its key","id":"take","more":true,"name":"Take over"},
  {"about":"Restore its removed workspace","done":"","id":"undo","more":true,"name":"Undo removal"},
];
