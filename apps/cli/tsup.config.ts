import { bundle } from '../../tsup.base.ts';

export default bundle({ main: 'src/main.ts' });
