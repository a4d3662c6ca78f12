import { bundle } from '../tsup.base.ts';

export default bundle({ child: 'src/child.ts', serve: 'src/serve.ts' });
