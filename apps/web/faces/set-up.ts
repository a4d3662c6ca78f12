import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Installs, once, what these tests need besides the workspace: a browser and its driver. */
export default function setUp(): void {
  if (existsSync(new URL('node_modules/playwright-core/package.json', import.meta.url))) return;
  process.stdout.write('fetching a Chromium and what drives it (once)\n');
  try {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: 'pipe',
    });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
    throw new Error(
      `The tests of the page need the packages of apps/web/faces, and npm could not fetch them. Run 'npm ci' there. It said:\n${said}`,
    );
  }
}
