import { uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

export const classroomMemberView = new View('MemberAddResult', { member_id: uuid('m.id') });
