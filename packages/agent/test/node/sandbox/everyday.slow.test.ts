import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { bwrapSandbox, isGitLine } from '@cobbler/agent/sandbox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { status } from './world.ts';

interface Line {
  readonly line: string;
  /** What it prints. */
  readonly prints: RegExp;
}

const server = `"$NODE" -e 'require("http").createServer((q, r) => r.end("served")).listen(3000)'`;
const client = `"$NODE" -e 'const go = () => fetch("http://127.0.0.1:3000").then((r) => r.text()).then(console.log, () => setTimeout(go, 20)); go()'`;

const lines: readonly Line[] = [
  { line: 'npm install --offline --no-audit --no-fund ./left-1.0.0.tgz && ls node_modules', prints: /left/ },
  { line: 'npm test', prints: /pass 1/ },
  { line: 'npm run build && cat dist/out.txt', prints: /built/ },
  { line: 'npm exec -- left', prints: /left runs/ },
  { line: 'git status --short', prints: /left-1/ },
  { line: 'git add -A && git commit -q -m "a change" && git log --oneline', prints: /a change/ },
  { line: 'git switch -q -c topic && git status', prints: /On branch topic/ },
  { line: 'git tag v1 && git log -1 --format=%D', prints: /tag: v1/ },
  { line: 'echo more >> index.js; git diff --stat', prints: /index\.js/ },
  { line: "git commit -qam 'more' && git log -1 --format='%an %s'", prints: /Ada more/ },
  { line: 'cd sub && git status', prints: /On branch topic/ },
  { line: 'git blame index.js | head -1; git config user.email', prints: /ada@example\.com/ },
  { line: '"$TSC" --noEmit --strict one.ts && echo checked', prints: /checked/ },
  {
    line: 'python3 -c "import json, tempfile; print(json.dumps([1])); tempfile.TemporaryFile()"',
    prints: /\[1\]/,
  },
  { line: 'python3 -m venv --without-pip env && ./env/bin/python -c "print(40 + 2)"', prints: /42/ },
  { line: `${server} & ${client}`, prints: /served/ },
  { line: 'sleep 0.1 & (sleep 0.1; echo later) & wait; echo all', prints: /later\nall/ },
  { line: 'make -s -f Makefile hello', prints: /hello from make/ },
  { line: "find . -name '*.ts' -print0 | xargs -0 grep -l one | sort", prints: /one\.ts/ },
  { line: 'printf "#!/bin/sh\\necho own\\n" > run.sh && chmod +x run.sh && ./run.sh', prints: /own/ },
  { line: 'tar czf a.tgz sub && mkdir -p x && tar xzf a.tgz -C x && ls x', prints: /sub/ },
  { line: 'f=$(mktemp) && echo kept > "$f" && echo kept > /tmp/name && cat "$f"', prints: /kept/ },
  { line: 'cat /tmp/name', prints: /kept/ },
  { line: 'mkdir -p ~/.cache/x && echo cached > ~/.cache/x/y && cat ~/.cache/x/y', prints: /cached/ },
  { line: 'cat ~/.cache/x/y', prints: /cached/ },
  { line: 'ln -s one.ts link.ts && ln one.ts hard.ts && cat link.ts hard.ts', prints: /one/ },
  { line: 'timeout 0.2 sleep 5; echo "code $?"', prints: /code 124/ },
  { line: 'echo a | cat /dev/stdin /dev/null; head -c 4 /dev/urandom | wc -c', prints: /4/ },
  { line: 'rm -rf node_modules dist && mkdir dist && mv one.ts dist/one.ts && ls dist', prints: /one\.ts/ },
];

let base: string;
let sandbox: Sandbox;
const files: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({
    name: 'everyday',
    version: '1.0.0',
    scripts: { test: 'node --test', build: 'mkdir -p dist && echo built > dist/out.txt' },
  }),
  'index.js': 'module.exports = 1;\n',
  'index.test.js': "require('node:test').test('one', () => {});\n",
  'one.ts': 'export const one: number = 1;\n',
  '.gitignore': 'node_modules\nenv\n',
  'sub/file': 'text\n',
  Makefile: 'hello:\n\t@echo hello from make\n',
  'left/package.json': JSON.stringify({ name: 'left', version: '1.0.0', bin: 'left.js' }),
  'left/left.js': '#!/usr/bin/env node\nconsole.log("left runs");\n',
};

function start(line: string) {
  const typescript = realpathSync(join(import.meta.dirname, '../../../../../node_modules/typescript'));
  const env = childEnvironment(process.env, {
    HOME: join(base, 'home'),
    NODE: process.execPath,
    TSC: join(typescript, 'bin/tsc'),
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  });
  if (status.works)
    sandbox ??= bwrapSandbox(
      {
        workspace: join(base, 'home/project'),
        env,
        read: [join(typescript, '../../..'), join(typescript, '..')],
      },
      status.program,
    );
  return superviseProcess({
    argv: ['/bin/sh', '-c', `exec 2>&1; ${line}`],
    cwd: join(base, 'home/project'),
    env,
    timeoutMs: 60_000,
    sandbox: sandbox.with({ git: isGitLine(line) }),
  }).ended;
}

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'everyday-')));
  const project = join(base, 'home/project');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  writeFileSync(join(base, 'home/.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.com\n');
  const env = { ...process.env, HOME: join(base, 'home') };
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'first'],
  ])
    execFileSync('git', args, { cwd: project, env, stdio: 'ignore' });
  execFileSync('npm', ['pack', '--silent', './left'], { cwd: project, env, stdio: 'ignore' });
});

afterAll(() => rmSync(base, { recursive: true, force: true }));

describe.skipIf(!status.works)('in the sandbox (needs bubblewrap)', () => {
  it.for(lines)('works: $line', async ({ line, prints }) => {
    const { code, stdout, undone } = await start(line);
    expect(stdout.text()).toMatch(prints);
    expect({ code, undone }).toEqual({ code: 0, undone: [] });
  });

  it('leaves the files of the home directory and of /tmp where the user does not see them', () => {
    expect(existsSync(join(base, 'home/.cache'))).toBe(false);
    expect(existsSync('/tmp/name')).toBe(false);
  });
});
