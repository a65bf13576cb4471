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
  {"about":"Land what passed its checks, or try a landing that waits at once","done":"lands","id":"land","name":"Land"},
  {"about":"Go on with it, in its last conversation","done":"goes on","id":"continue","name":"Continue","prompt":"What should it do now?","text":"text"},
  {"about":"Begin it anew","bare":true,"done":"begins anew","id":"retry","name":"Retry","prompt":"What should it do differently? (may stay empty)","text":"note"},
  {"about":"End what runs and begin it anew, in the workspace it has","bare":true,"done":"goes back to the queue","id":"requeue","name":"Requeue","prompt":"What should it do differently? (may stay empty)","staff":true,"text":"note"},
  {"about":"Stop it and its session","danger":true,"done":"stops","id":"stop","name":"Stop"},
  {"about":"Give it back to Coppice, which goes on in the same conversation","done":"goes on by itself","id":"give","name":"Give back","prompt":"What did you do? (may stay empty)","text":"text"},
  {"about":"Go on with it yourself on the agent's own screen","done":"is yours: open its terminal, or run coppice attach with its key","id":"take","more":true,"name":"Take over"},
  {"about":"Bring its removed workspace back","done":"","id":"undo","more":true,"name":"Undo removal"},
];
