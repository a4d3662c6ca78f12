/**
 * Returns why the packages cannot be published with a signed statement of their origin; undefined if they can.
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly { name: string, repository?: string | { url?: string } }[]} manifests
 * @returns {string | undefined}
 */
export function provenanceProblem(env, manifests) {
  const hasGithub =
    env.GITHUB_ACTIONS === 'true' && env.ACTIONS_ID_TOKEN_REQUEST_URL && env.ACTIONS_ID_TOKEN_REQUEST_TOKEN;
  const hasGitlab = env.GITLAB_CI === 'true' && env.SIGSTORE_ID_TOKEN;
  if (!hasGithub && !hasGitlab)
    return 'this environment cannot prove where the packages come from. Use GitHub Actions with the permission "id-token: write", or GitLab CI with SIGSTORE_ID_TOKEN.';
  const nameless = manifests.find(({ repository }) => {
    const url = typeof repository === 'string' ? repository : repository?.url;
    return url === undefined || url.trim() === '';
  });
  return (
    nameless &&
    `the package.json of ${nameless.name} has no "repository", which the registry compares with the origin.`
  );
}
