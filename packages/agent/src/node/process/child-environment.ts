import { withArgumentErrors } from '../../values/errors.ts';

/** Variables that describe where and how a program runs and contain no secrets. */
const harmless: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TERM',
  'TMPDIR',
  'TMP',
  'TEMP',
  'CI',
  'NO_COLOR',
  // Locations of toolchains.
  'JAVA_HOME',
  'GOPATH',
  'GOROOT',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'NVM_DIR',
  'PNPM_HOME',
  'VIRTUAL_ENV',
  // Certificates of a private certificate authority.
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  // Required to start programs on Windows.
  'SystemRoot',
  'SYSTEMROOT',
  'ComSpec',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
]);

/**
 * Returns the environment of a child process: only variables known to be harmless are passed, so that no key is
 * (reliability promise 19). Other variables are added by name in `extra`.
 */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return withArgumentErrors('childEnvironment', () => {
    const environment: Record<string, string> = {};
    for (const [name, value] of Object.entries(source)) {
      if (value !== undefined && (harmless.has(name) || /^LC_[A-Z]+$/.test(name))) environment[name] = value;
    }
    return { ...environment, ...extra };
  });
}
