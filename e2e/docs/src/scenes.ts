// The state and the actions of a reader around a command, as shell commands and as keys in a terminal.
import type { Fill, Keys } from './plan.ts';

/** Waits until the chat shows its prompt. */
export const isReady: Keys = [[/› /, '']];

/** Sends a message to the assistant and waits for the reply. */
export const greets: Keys = [
  [/› /, 'hello\r'],
  [/Hello!/, ''],
];

/** The default port, which is replaced with that of this test run. */
export const servesHere: Fill = [[' serve', ' serve --port 4370']];

/** A background server, for pages with commands that connect to a server without starting it. */
export const serves: string = [
  // Removed first: until the server has opened it, it holds the token of an earlier server.
  'rm -f "$DOCS_HOME/serve.log"; cobbler serve --port 4370 >"$DOCS_HOME/serve.log" 2>&1 & DOCS_BESIDE=$!',
  'until grep -q "#token=" "$DOCS_HOME/serve.log"; do sleep 0.1; kill -0 $DOCS_BESIDE || exit 1; done',
  'DOCS_TOKEN=$(sed -n "s/.*#token=//p" "$DOCS_HOME/serve.log") TOKEN=$DOCS_TOKEN DOCS_URL=http://127.0.0.1:4370',
].join('\n');
export const servesNoMore: string =
  'kill $DOCS_BESIDE; while kill -0 $DOCS_BESIDE 2>/dev/null; do sleep 0.1; done';

/** Shows the response of a server that rejects a request. */
export const refusal: RegExp = /"status":[45]\d\d/;

/** Waits until an approval of the session `demo` is open, and stores its id. */
export const isAsked: string = [
  'until api $URL/v1/approvals | grep -q approvalId; do sleep 0.2; done',
  'DOCS_ASKED=$(api $URL/v1/approvals)',
  'DOCS_APPROVAL=$(sed "s/.*\\"approvalId\\":\\"\\([^\\"]*\\).*/\\1/" <<<"$DOCS_ASKED")',
  'DOCS_HASH=$(sed "s/.*\\"hash\\":\\"\\([^\\"]*\\).*/\\1/" <<<"$DOCS_ASKED")',
].join('\n');

export const isOver: string =
  'until api $URL/v1/sessions/demo | grep -qE \'"status":"(complete|cancelled|failed)"\'; do sleep 0.2; done';

/** Sends a prompt to the server of the page, and waits until the response is stored. */
export const isAnswered: string = [
  'asked() { curl -fsS -H "Authorization: Bearer $DOCS_TOKEN" -H "Content-Type: application/json" "$@"; }',
  `DOCS_SESSION=$(asked -X POST $DOCS_URL/v1/sessions -d '{}' | sed 's/.*"id":"\\([^"]*\\).*/\\1/')`,
  `asked -X POST $DOCS_URL/v1/sessions/$DOCS_SESSION/prompt -d '{"content":"say hello"}'`,
  `until asked $DOCS_URL/v1/sessions/$DOCS_SESSION | grep '"status":"complete"'; do sleep 0.2; done`,
].join('\n');

/** Waits until Restate accepts calls and admin requests. */
export const answersAtRestate: string = [
  'for DOCS_HEALTH in $DOCS_ADMIN/health $DOCS_INGRESS/restate/health; do',
  'until curl -fsS -o "$DOCS_HOME/null" http://127.0.0.1:$DOCS_HEALTH; do sleep 0.2; done',
  'done',
].join('\n');

/** Stores a prefix of the last session's id. */
export const lastSession: string =
  '$(cobbler sessions --json | head -n 1 | sed \'s/.*"id":"\\([^"]*\\).*/\\1/\')';

/** Creates a run that ended before it was complete. */
export const limited = 'cobbler --yes --max-turns 1 "Write a.txt." || [ $? = 3 ]';

/** Writes the first program of the page to the file that the command names last. */
export const savesProgram: string = [
  "awk '/^ *```ts$/ { on = 1; next } on && /^ *```$/ { exit } on'",
  '"$DOCS_CLONE/$DOCS_PAGE" > "$DOCS_LAST"',
].join(' ');

/** Creates a run of the session `demo` that waits for a decision. */
export const asks = `api -X POST $URL/v1/sessions/demo/prompt -d '{"content":"Run all the tests."}'`;

/** An npx that uses no registry: the only published server in the pages is in the lockfile. */
export const playsNpx: string = [
  'mkdir -p "$DOCS_FOLDER/bin"',
  `printf '#!/bin/sh\\nexec %s/packages/tools/node_modules/.bin/mcp-server-filesystem "$3"\\n' "$DOCS_CLONE" >"$DOCS_FOLDER/bin/npx"`,
  'chmod +x "$DOCS_FOLDER/bin/npx"; PATH="$DOCS_FOLDER/bin:$PATH"',
].join('\n');
