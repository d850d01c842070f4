import { uuid, View } from '../../../http/kit.js';

export const classroomMemberView = new View('MemberAddResult', { member_id: uuid('m.id') });
