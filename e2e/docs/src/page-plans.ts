// Plans for single pages: values for their placeholders, and what the reader has done before.
import type { PagePlan, Plan } from './plan.ts';
import {
  answersAtRestate,
  asks,
  isAnswered,
  isAsked,
  isOver,
  isReady,
  lastSession,
  limited,
  playsNpx,
  refusal,
  savesProgram,
  serves,
  servesHere,
  servesNoMore,
} from './scenes.ts';

/** Leaves a record in the audit log. */
const removesRule =
  "mkdir -p .cobbler; echo 'permissions: { allow: [run_command(npm test)] }' > .cobbler/config.yaml; cobbler permissions remove 'run_command(npm test)'";

const noEngine = 'needs a container engine; deploy/try.mjs does the steps of the file without one';
const noSystemd = 'needs systemd; a test runs the command lines of the units with their environments';
const noAccount =
  'needs a Cloudflare account, and wrangler from npm; npm run verify -- worker runs the code to upload';

const noClaudeCode = 'a program that needs Claude Code and a login; npm run verify -- clis runs the real one';
const noBot = 'needs a Telegram bot; the program is type-checked';

export const pagePlans: readonly PagePlan[] = [
  {
    page: 'docs/sessions.md',
    fill: [['a43c', lastSession]],
    before: 'cd "$DOCS_PROJECT"; cobbler "say hello"',
  },
  {
    page: 'docs/operations.md',
    fill: [
      ['sudo -u cobbler ', ''],
      ['sudo ', ''],
      ['-o cobbler ', ''],
      ['/opt/cobbler', '$DOCS_FOLDER/opt/cobbler'],
      ['/usr/local/bin/', '$DOCS_FOLDER/'],
      ['/etc/cobbler', '$DOCS_FOLDER/etc'],
      ['/var/backups/cobbler', '$DOCS_FOLDER/backups'],
      ['/var/lib/cobbler', '$DOCS_FOLDER/state'],
    ],
  },
  { page: 'docs/mcp.md', before: playsNpx },
  { page: 'docs/audit.md', fill: [['FILE', 'audit-copy.jsonl']], before: removesRule },
];

export const pageRules: readonly Plan[] = [
  { page: 'docs/audit.md', command: 'cobbler config set audit off', after: 'cobbler config set audit on' },
  { page: 'docs/audit.md', command: /^cobbler audit verify/, prints: /records, all intact/ },
  ...['npm test && git log', 'git log', 'git status'].map((command) => ({
    page: 'docs/permissions.md',
    command,
    apart: 'an example of a command that an agent runs',
  })),
  {
    page: 'docs/permissions.md',
    command: 'cobbler permissions remove RULE',
    codes: [2],
    prints: /no allow rule RULE/,
  },
  {
    page: 'README.md',
    command: /ln -s "\$PWD/,
    after: 'npm run exec -- node ~/.local/bin/cobbler --version',
  },
  { page: 'README.md', command: /^api -X POST .*prompt/, prints: /"seq":1/ },
  {
    page: 'docs/sessions.md',
    command: /^cobbler resume( a43c)?$/,
    before: limited,
  },
  {
    page: 'README.md',
    command: 'npm run try hello.ts',
    before: savesProgram,
    prints: /complete It is 42\. 1/,
    keyless: true,
  },
  {
    page: 'README.md',
    command: /^npm install ~\/cobbler-packages/,
    before: 'npm_config_offline=false npm_config_prefer_offline=true',
    after: 'npm_config_offline=true',
  },
  {
    page: 'README.md',
    command: 'node hello.ts',
    // In the project that now has the packages, with the Node that the page requires.
    before: 'cd "$DOCS_PROJECT"; cp "$DOCS_CLONE/hello.ts" .',
    fill: [['node', '"$DOCS_NODE/node"']],
    prints: /complete It is 42\. 1/,
  },
  {
    page: 'apps/cli/README.md',
    command: 'npx @cobbler/cli demo',
    before: 'PATH="$DOCS_NODE:$PATH"',
    fill: [['@cobbler/cli', '--yes --package="$DOCS_TARBALL" cobbler']],
    prints: /4 of 4 pass/,
    keyless: true,
  },
  {
    page: 'apps/cli/README.md',
    command: 'npm install -g @cobbler/cli',
    fill: [['@cobbler/cli', '--prefix "$DOCS_FOLDER/global" "$DOCS_TARBALL"']],
    after: '"$DOCS_FOLDER/global/bin/cobbler" --version',
  },
  {
    page: 'README.md',
    command: 'npm run new -- provider|channel|store|tool NAME',
    fill: [['provider|channel|store|tool NAME', 'tool from-readme']],
  },
  {
    page: 'docs/assistant.md',
    command: 'npm start -- assistant',
    way: 'server',
    fill: [['assistant', 'assistant --api-root $DOCS_TELEGRAM']],
    prints: /ready/,
  },
  {
    page: 'docs/assistant.md',
    command: /^npm start -- assistant (set|delete)-webhook/,
    fill: [['-webhook', '-webhook --api-root $DOCS_TELEGRAM']],
  },
  {
    page: 'docs/assistant.md',
    command: 'npm start -- assistant --webhook',
    way: 'server',
    fill: [['--webhook', '--webhook --port 0 --api-root $DOCS_TELEGRAM']],
    prints: /ready/,
  },
  {
    page: 'docs/errors.md',
    command: 'cobbler assistant delete-webhook',
    before: 'TELEGRAM_BOT_TOKEN=$DOCS_BOT',
    fill: [['delete-webhook', 'delete-webhook --api-root $DOCS_TELEGRAM']],
  },
  {
    page: 'docs/errors.md',
    command: 'cobbler assistant --webhook',
    way: 'server',
    fill: [
      ['cobbler', 'TELEGRAM_BOT_TOKEN=$DOCS_BOT cobbler'],
      ['--webhook', '--webhook --port 0 --api-root $DOCS_TELEGRAM'],
    ],
    prints: /ready/,
  },
  {
    page: 'docs/assistant.md',
    command: /^cobbler assistant --embedder/,
    way: 'server',
    fill: [
      ['--embedder', '--api-root $DOCS_TELEGRAM --embedder'],
      ["'http://localhost:11434/v1#nomic-embed-text'", '"$DOCS_MODEL/v1#nomic-embed-text"'],
    ],
    prints: /ready/,
  },
  {
    page: 'docs/chat.md',
    command: /^cobbler chat --connect/,
    way: 'terminal',
    before: serves,
    fill: [["'http://127.0.0.1:4370/#token=cbk_…'", '"http://127.0.0.1:4370/#token=$DOCS_TOKEN"']],
    keys: isReady,
    after: servesNoMore,
  },
  { page: 'docs/cloudflare.md', command: /^(npx wrangler|npm run (migrate|deploy|dev))/, apart: noAccount },
  { page: 'docs/cloudflare.md', command: /^curl localhost:8787/, apart: noAccount },
  {
    page: 'docs/cloudflare.md',
    command: /^curl "https:\/\/api\.telegram\.org/,
    before: 'TELEGRAM_BOT_TOKEN=$DOCS_BOT TELEGRAM_WEBHOOK_SECRET=made-up',
    fill: [
      ['https://api.telegram.org', '$DOCS_TELEGRAM'],
      ['<address>', 'worker.example.org'],
    ],
    prints: /"ok":true/,
  },
  {
    page: 'docs/mcp.md',
    command: 'cobbler --mcp https://mcp.example.org/mcp "…"',
    fill: [['"…"', '"say hello"']],
  },
  {
    page: 'docs/mcp.md',
    command: /^claude mcp add/,
    way: 'speak',
    fill: [['claude mcp add cobbler -- ', '']],
  },
  {
    page: 'docs/operations.md',
    command: /podman/,
    apart: noEngine,
    instead: 'test -f "$DOCS_CLONE/deploy/Containerfile"',
  },
  {
    page: 'docs/operations.md',
    command: /systemctl|journalctl|useradd|cat \/run\/cobbler/,
    apart: noSystemd,
  },
  {
    page: 'docs/operations.md',
    command: 'node deploy/try.mjs',
    apart: 'needs root and builds for minutes: a separate suite',
  },
  {
    page: 'docs/operations.md',
    command: /install -m 0600/,
    fill: [['/dev/stdin', '/dev/stdin <<<"$DOCS_KEY"']],
  },
  { page: 'docs/operations.md', command: /cp deploy/, fill: [['/etc/systemd/system/', '$DOCS_FOLDER/']] },
  {
    page: 'docs/operations.md',
    command: /cobbler backup \/var/,
    before: 'mkdir -p $DOCS_FOLDER/state; COBBLER_HOME=$DOCS_FOLDER/state cobbler "say hello"',
  },
  {
    page: 'docs/operations.md',
    command: /store salvage/,
    before:
      'cd "$DOCS_PROJECT"; cobbler "say hello"; cd ~/.cobbler; rm -f *.salvaged*; cp sessions.db server.db',
  },
  {
    page: 'docs/costs.md',
    command: /store salvage/,
    before: 'cd "$DOCS_PROJECT"; cobbler "say hello"; rm -f ~/.cobbler/*.salvaged*',
  },
  { page: 'docs/costs.md', command: /\/v1\/costs/, before: serves, after: servesNoMore },
  {
    page: 'docs/chat.md',
    command: /^git log$/,
    before: 'git -c user.name=Reader -c user.email=reader@example.com commit --quiet --allow-empty -m Start',
  },
  { page: 'docs/sandbox.md', command: /apt-get install/, apart: 'installs a package of the system as root' },
  { page: 'docs/operations.md', command: /restore/, fill: [['2026-11-22', '$(date +%F)']] },
  {
    page: 'docs/operations.md',
    command: /^cobbler token create/,
    before: serves,
    prints: /cbk_/,
    after: servesNoMore,
  },
  {
    page: 'docs/operations.md',
    command: /^npm run bench -- load --url/,
    before: serves,
    fill: [
      ['https://cobbler.example.org', '$DOCS_URL'],
      ['--seconds 30', '--seconds 3'],
    ],
    after: servesNoMore,
  },
  {
    page: 'docs/operations.md',
    command: 'npm run bench -- load --self',
    fill: [['--self', '--self --seconds 3']],
  },
  {
    page: 'docs/scale-out.md',
    command: /restate-server/,
    way: 'server',
    stays: true,
    before: 'PATH="$DOCS_RESTATE:$PATH"',
    prints: /INFO/,
    after: answersAtRestate,
  },
  {
    page: 'docs/scale-out.md',
    command: /^cobbler serve .*--store postgres/,
    way: 'server',
    fill: [
      ...servesHere,
      ['postgres://cobbler@db/cobbler', '$DOCS_DATABASE'],
      ['http://n1:8080,http://n2:8080', 'http://127.0.0.1:$DOCS_INGRESS,http://127.0.0.1:1'],
      ['http://n1:9070', 'http://127.0.0.1:$DOCS_ADMIN'],
      ['http://cobbler.internal:9080', 'http://127.0.0.1:$DOCS_HANDLERS --restate-port $DOCS_HANDLERS'],
    ],
    after: isAnswered,
  },
  { page: 'docs/server.md', command: 'cd my-project' },
  {
    page: 'docs/server.md',
    command: /\/events$/,
    way: 'follow',
    prints: /"type":"user"/,
  },
  {
    page: 'docs/server.md',
    command: /approvals\/7cea…/,
    before: isAsked,
    fill: [
      ['7cea…', '$DOCS_APPROVAL'],
      ['e916…', `'"$DOCS_HASH"'`],
    ],
    after: isOver,
  },
  { page: 'docs/server.md', command: /cancel$/, prints: /"cancelled"/ },
  // A completed session is not continued; the command says so.
  { page: 'docs/server.md', command: /^api .*\/resume$/, prints: /"(runId|code)"/ },
  {
    page: 'docs/server.md',
    command: /\/steer /,
    before: asks,
    never: refusal,
    after: 'api -X POST $URL/v1/sessions/demo/cancel',
  },
  { page: 'docs/server.md', command: /\/undo$/, prints: /"undo":\{/ },
  {
    page: 'docs/server.md',
    command: /\/undo -d/,
    before: `DOCS_UNDO=$(api $URL/v1/sessions/demo/undo | sed 's/.*"undo":{"seq":[0-9]*,"hash":"\\([^"]*\\).*/\\1/')`,
    fill: [['51f0…', `'"$DOCS_UNDO"'`]],
    prints: /"id":/,
  },
  { page: 'docs/server.md', command: /fork/, never: refusal, fill: [['"upToSeq":10', '"upToSeq":4']] },
  {
    page: 'docs/server.md',
    command: /^kill -9 SERVER/,
    way: 'server',
    fill: [['SERVER', '$DOCS_SERVER'], ...servesHere],
  },
  // The request goes to the server of the page, not to another one.
  { page: 'docs/server.md', command: 'cobbler approve' },
  {
    page: 'docs/server.md',
    command: 'cobbler token revoke ID',
    fill: [['ID', '"$(cobbler token list | sed -n \'s/  ana  .*//p\' | head -n 1)"']],
  },
  {
    page: 'docs/server.md',
    command: /^cobbler (approve|deny) 7cea/,
    before: `api -X POST $URL/v1/sessions/demo/prompt -d '{"content":"Write bye.txt."}'\n${isAsked}`,
    fill: [['7cea', '$DOCS_APPROVAL']],
    after: isOver,
  },
  {
    page: 'docs/sessions.md',
    command: 'cobbler sessions import log.jsonl',
    before: `cobbler sessions delete "$(sed -n '1s/.*"seq":1,"id":"\\([^-]*\\).*/\\1/p' log.jsonl)"`,
  },
  { page: 'docs/sessions.md', command: /--at 12/, fill: [['12', '2']] },
  {
    page: 'docs/server.md',
    command: /connectHarness[\s\S]*127\.0\.0\.1:4370/,
    before: 'COBBLER_SERVER_TOKEN=$DOCS_TOKEN',
    prints: /approval_requested\s+finished\s+waiting/,
  },
  { page: 'docs/delegation.md', command: /^import [\s\S]*claudeCode\(/, apart: noClaudeCode },
  { page: 'packages/delegate/README.md', command: /^import [\s\S]*claudeCode\(/, apart: noClaudeCode },
  { page: 'docs/telegram.md', command: /^import [\s\S]*TELEGRAM_BOT_TOKEN/, apart: noBot },
];
