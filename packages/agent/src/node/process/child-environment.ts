/** Variables that say where and how a program runs, and by their nature hold no secret. */
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
  // Where tool chains are installed.
  'JAVA_HOME',
  'GOPATH',
  'GOROOT',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'NVM_DIR',
  'PNPM_HOME',
  'VIRTUAL_ENV',
  // Certificates of a company's own authority.
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  // Without these nothing starts on Windows.
  'SystemRoot',
  'SYSTEMROOT',
  'ComSpec',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
]);

/**
 * The environment of a child process: only known harmless variables pass, so that no key does
 * (reliability promise 19). What else it needs is named one by one in `extra`.
 */
export function childEnvironment(
  source: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && (harmless.has(name) || /^LC_[A-Z]+$/.test(name))) environment[name] = value;
  }
  return { ...environment, ...extra };
}
