"""Recordings: every frame a complete state on disk, readable by ParaView, safe against kills."""

from crumple.recording.frame import state_digest
from crumple.recording.recorder import Recorder, create_recording
from crumple.recording.recording import Recording
from crumple.recording.resume import resume_recording

__all__ = ["Recorder", "Recording", "create_recording", "resume_recording", "state_digest"]
