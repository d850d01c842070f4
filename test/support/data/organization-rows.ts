import { v7 as uuidv7 } from 'uuid';
import type { Tables } from '../database/tables.js';
import { enquiries } from './enquiry-rows.js';
import type { Factories } from './factories.js';
import { moneyOf } from './money-rows.js';
import { webhooks } from './webhook-rows.js';

export type Lesson = { tutorId: string; studentId: string };

/** Creates one row of each kind with a value in every column, and one with only the required values. */
export async function fill(make: Factories, school: string): Promise<Record<'path' | 'query', Record<string, string>>> {
  const subject = await make.subject(school);
  await make.subject(school, { isArchived: true });
  const [tier, band] = [await make.tutorTier(school), await make.rateBand(school)];
  const { tutor, student, parent } = await people(make, school, subject.id, { tutorTierId: tier.id, rateBandId: band.id });
  const classroom = await make.classroom(school, { tutorId: tutor.id, subjectId: subject.id, priceCents: 12000, billingInterval: 'month' });
  await make.classroomMember(school, classroom.id, student.id);
  await make.tutorStudent(school, tutor.id, student.id, { subjectId: subject.id });
  const group = await make.group(school, {
    tutorId: tutor.id,
    classroomId: classroom.id,
    subjectId: subject.id,
    ratePerStudentCents: 4500,
    color: '#3366cc',
    avatarUrl: 'https://example.org/group.png',
  });
  await make.groupMember(group.id, student.id);
  await make.groupMember(group.id, tutor.id, { role: 'tutor' });
  await make.classroom(school, { isArchived: true });
  await make.group(school, { isArchived: true });
  const lesson = { tutorId: tutor.id, studentId: student.id, subjectId: subject.id };
  const repeated = { startsAt: new Date('2026-03-02T09:00:00Z'), lastStartsAt: new Date('2026-03-09T09:00:00Z'), durationMinutes: 60, everyWeeks: 1 };
  const online = { mode: 'online' as const, meetingUrl: 'https://meet.example.org/ada', studentRateCents: 8500, tutorPayRateCents: 5000 };
  const of = { tutorId: tutor.id, subjectId: subject.id, groupId: group.id, classroomId: classroom.id };
  const series = await make.row('session_series', { organizationId: school, ...repeated, ...online, ...of });
  await make.row('session_series', { organizationId: school, ...repeated });
  const { session, participant } = await sessions(make, school, { ...lesson, groupId: group.id, classroomId: classroom.id, seriesId: series.id });
  await make.query('UPDATE session_series SET location_id = $2 WHERE id = $1', [series.id, session.locationId]);

  const homework = await make.homework(tutor.id, {
    scope: 'classroom',
    classroomId: classroom.id,
    description: 'Pages 4 to 6',
    dueDate: new Date('2026-03-09T00:00:00Z'),
    files: [{ name: 'sheet.pdf', url: 'https://example.org/sheet.pdf' }],
  });
  await make.homework(tutor.id, { scope: 'group', homeworkType: 'exam', groupId: group.id });
  await make.homework(tutor.id, { studentId: student.id }, school);
  const feedback_id = await feedback(make, school, { tutorId: tutor.id, reviewerId: student.id, sessionId: session.id });
  const result = await results(make, student.id, homework.id, school);
  const conversation = await conversations(make, [tutor.id, student.id], classroom.id);
  const { booking_request_id, ...asked } = await enquiries(make, school, { ...lesson, sessionId: session.id });
  await make.insert('time_off', [{ note: 'School holidays' }], { organization_id: school, tutor_id: tutor.id });
  const adjustment = await make.adjustment(school, tutor.id, { note: 'Holiday loading' });
  await make.adjustment(school, tutor.id, { amountCents: -700, voided: true, voidedAt: new Date() });
  const takenBack = { takenBack: true, takenBackAt: new Date(), voidReason: 'Entered twice' };
  const paid = { organizationId: school, tutorId: tutor.id, amountCents: 700, currency: 'AUD', paidAt: new Date() };
  await make.row('payouts', { ...paid, ...takenBack });
  const payout = await make.row('payouts', { ...paid, recorded: true, isGroup: false });
  const money = await moneyOf(make, school, { tutorId: tutor.id, studentId: student.id, sessionId: session.id });
  const lessons = await lessonMaterial(make, school, {
    tutor: tutor.id,
    student: student.id,
    classroom: classroom.id,
    group: group.id,
    session: session.id,
  });
  const post = await make.post(school, {
    excerpt: 'What is new',
    content: '<p>Hello</p>',
    author: 'Ada',
    tags: ['exams', 'habits'],
    featuredImage: 'https://example.org/image.jpg',
    category: 'News',
    date: '2026-03-02',
    scheduledAt: new Date('2027-01-01T00:00:00Z'),
  });
  await make.post(school, { brand: 'secondary', status: 'published', isPinned: true, publishedAt: new Date() });
  const { apiKeyId } = await make.loggedRequest(school, { status: 404, createdAt: new Date('2026-03-02T09:00:00Z') });
  await make.loggedRequest(school, { apiKeyId, method: 'POST', route: null, status: 503 });

  return {
    path: {
      session_id: session.id,
      participant_id: participant.id,
      series_id: session.seriesId!,
      tutor_id: tutor.id,
      student_id: student.id,
      parent_id: parent.id,
      person_id: student.id,
      subject_id: subject.id,
      tutor_tier_id: tier.id,
      rate_band_id: band.id,
      group_id: group.id,
      classroom_id: classroom.id,
      ...conversation,
      plan_id: lessons.plan_id,
      inbox_message_id: lessons.inbox_message_id,
      question_id: lessons.question_id,
      homework_id: homework.id,
      feedback_id,
      file_id: lessons.file_id,
      result_id: result,
      post_id: post.id,
      ...(await webhooks(make, school)),
      adjustment_id: adjustment.id,
      payout_id: payout.id,
      ...asked,
      ...money,
    },
    query: {
      curriculum_level_id: lessons.level,
      upload_id: lessons.upload_id,
      receipt_file_id: lessons.file_id,
      booking_request_id,
      subject: subject.id,
      postcode: '3056',
      status: '4xx',
      email: student.email,
      phone: student.phone!,
    },
  };
}

async function people(make: Factories, school: string, subjectId: string, { tutorTierId, rateBandId }: { tutorTierId: string; rateBandId: string }) {
  const profile = {
    bio: 'Patient and precise',
    teachingMode: 'both' as const,
    isPublished: true,
    avatarUrl: 'https://example.org/tutor.png',
    handle: 'ada',
    homeSuburb: 'Brunswick',
    homePostcode: '3056',
    homeLat: -37.76,
    homeLng: 144.96,
    servicePostcodes: ['3056', '3057'],
    maxTravelKm: 10,
    inPersonArrangements: ['at_home'],
    specialisations: ['exams'],
    meetingUrl: 'https://meet.example.org/ada',
    tutorTierId,
  };
  const tutor = await make.tutor(school, { profile });
  await make.tutorSubject(school, tutor.id, subjectId);
  await make.tutor(school, { role: 'owner' });
  await make.member(school, { role: 'admin' });
  const student = await make.student(school, { user: { phone: '0400000001' }, rateBandId });
  await make.student(school, { status: 'pending', suppliedFirstName: 'Mia' });
  await make.student(school, { user: { placeholderEmail: true } });
  const parent = await make.parent(school, { children: [student.id] });
  await make.parent(school, { status: 'pending', suppliedLastName: 'Nguyen', children: [student.id] });
  return { tutor, student, parent };
}

async function sessions(make: Factories, school: string, lesson: Lesson & Partial<Tables['sessions']>) {
  const session = await make.session(school, {
    ...lesson,
    status: 'completed',
    title: 'Methods',
    tutorPayRateCents: 5000,
    studentRateCents: 8500,
    amountOwedCents: 8500,
    mode: 'online',
    meetingUrl: 'https://meet.example.org/ada',
    locationId: (await make.row('locations', { organizationId: school, label: 'Room' })).id,
    completedAt: new Date('2026-03-02T10:00:00Z'),
  });
  const participant = await make.participant(school, session.id, lesson.studentId, {
    status: 'cancelled',
    attendance: 'excused',
    invitedAt: new Date(),
    respondedAt: new Date(),
    cancelledAt: new Date(),
    rateCents: 8500,
  });
  await make.session(school);
  return { session, participant };
}

async function feedback(
  make: Factories,
  school: string,
  { tutorId, ...more }: { tutorId: string; reviewerId: string; sessionId: string },
): Promise<string> {
  const tags = { positiveTags: ['patient'], improveTags: ['pace'] };
  const said = { recommend: true, prepared: false, comment: 'Explains it until it clicks.', isPublic: true };
  const { id } = await make.feedback(school, tutorId, { ...more, ...tags, ...said, reviewerRole: 'student' });
  await make.feedback(school, tutorId, { rating: 1 });
  return id;
}

/** @returns the id of the first one */
async function results(make: Factories, studentId: string, homeworkAssignmentId: string, madeByOrganizationId: string): Promise<string> {
  const done = { startedAt: new Date('2026-03-02T09:00:00Z'), completedAt: new Date('2026-03-02T10:00:00Z') };
  const what = { vceExamId: uuidv7(), curriculumLevelId: uuidv7(), homeworkAssignmentId, madeByOrganizationId };
  const { id } = await make.result(studentId, { ...done, ...what, grade: 81, mode: 'homework' });
  await make.result(studentId, { status: 'submitted', mode: 'topic_practice' });
  await make.result(studentId, { status: 'in_progress', mode: 'vce_exam' });
  await make.result(studentId, { status: 'not_started' });
  return id;
}

/** @returns the ids of the conversation that has a message, and of the message */
async function conversations(make: Factories, participants: string[], classroomId: string) {
  const { id } = await make.conversation({ participants, title: 'Questions' });
  const message = await make.message(id);
  await make.message(id, { senderId: participants[0]!, replyToId: message.id, organizationId: message.organizationId });
  await make.conversation({ type: 'triad', participants });
  await make.conversation({ type: 'group', participants });
  await make.conversation({ type: 'classroom_feed', classroomId, participants });
  return { conversation_id: id, message_id: message.id };
}

/** @returns the ids of a plan, of a level and of a message of the inbox */
async function lessonMaterial(make: Factories, organizationId: string, ids: Record<'tutor' | 'student' | 'classroom' | 'group' | 'session', string>) {
  const [level, createdBy] = [uuidv7(), ids.tutor];
  const plan = {
    organizationId,
    createdBy,
    title: 'Quadratics',
    planData: { warm_up: '5 minutes' },
    curriculumLevelIds: [level],
    mathLevelId: level,
  };
  const scheduledFor = new Date('2026-03-09T09:00:00Z');
  const { id } = await make.row('lesson_plans', { ...plan, scope: 'student', studentId: ids.student, sessionId: ids.session, scheduledFor });
  await make.row('lesson_plans', { ...plan, scope: 'classroom', classroomId: ids.classroom });
  await make.row('lesson_plans', { ...plan, scope: 'group', groupId: ids.group });
  const files = await filesOf(make, organizationId, ids);
  const asked = { topic: 'Quadratics', introText: 'Complete the square.', questionNumber: 4, totalMarks: 3, isCurrentStudyDesign: true };
  const question = await make.row('questions', { organizationId, authorId: ids.tutor, tags: ['exam'], curriculumLevelIds: [level], ...asked });
  await make.row('questions', { organizationId, topic: 'Ratios' });
  const guest = { guestName: 'Mia', guestEmail: 'mia@example.org' };
  const { id: inbox_message_id } = await make.row('inbox_messages', {
    organizationId,
    subjectTutorId: ids.tutor,
    fromUserId: ids.student,
    message: 'Hello',
    ...guest,
  });
  await make.row('inbox_messages', { organizationId, message: 'Hello', status: 'archived' });
  return { plan_id: id, question_id: question.id, level, inbox_message_id, ...files };
}

/** @returns the ids of a file that a receipt is, and of an upload that no file names */
async function filesOf(make: Factories, organizationId: string, ids: Record<'tutor' | 'student' | 'classroom' | 'group', string>) {
  const own = { organizationId, ownerId: ids.tutor };
  const urls = { fileUrl: 'https://files.example.org/a.pdf', linkUrl: 'https://example.org/' };
  const [uploaded, unnamed] = [await make.row('uploads', { organizationId }), await make.row('uploads', { organizationId })];
  const about = { studentId: ids.student, folderId: uuidv7() };
  const file = await make.row('files', { ...own, title: 'Surds', scope: 'personal', resourceType: 'file', uploadId: uploaded.id, ...about });
  await make.row('files', { ...own, scope: 'group', groupId: ids.group, resourceType: 'file', ...urls });
  await make.row('files', { ...own, scope: 'classroom', classroomId: ids.classroom, resourceType: 'video', ...urls });
  await make.row('files', { organizationId, title: 'Alone', scope: 'org', resourceType: 'link', linkUrl: 'https://example.org/' });
  await make.expense(organizationId, ids.tutor, { receiptFileId: file.id });
  return { file_id: file.id, upload_id: unnamed.id };
}
