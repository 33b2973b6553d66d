/** What stands in the place of open.ts where there is no Node: pages have no cards. */
import type { DeviceInfo } from '../list.ts';
import type { Opened } from '../registry.ts';

const WHY = 'CUDA devices are for Node, not for pages.';

export function openCuda(_number: string | undefined): Opened {
  throw new Error(WHY);
}

export const hasCard = (): boolean => false;

export const listCuda = (): DeviceInfo[] => [
  { name: 'cuda', kind: 'cuda', description: `none: ${WHY}`, missing: WHY },
];
