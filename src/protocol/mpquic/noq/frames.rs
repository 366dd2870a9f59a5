//! Whether a datagram brought anything: by noq's count of frames.

use noq_proto::FrameStats;

/// Every frame but PADDING, and so at least one for every packet that was authentic and new.
pub fn frames_received(frames: &FrameStats) -> u64 {
    let handshake = frames.crypto + u64::from(frames.handshake_done) + frames.new_token;
    let data = frames.acks + frames.path_acks + frames.stream + frames.datagram + frames.ping;
    let limits = frames.max_data
        + frames.max_stream_data
        + frames.max_streams_bidi
        + frames.max_streams_uni
        + frames.data_blocked
        + frames.stream_data_blocked
        + frames.streams_blocked_bidi
        + frames.streams_blocked_uni;
    let ids = frames.new_connection_id
        + frames.path_new_connection_id
        + frames.retire_connection_id
        + frames.path_retire_connection_id
        + frames.path_cids_blocked;
    let paths = frames.path_challenge
        + frames.path_response
        + frames.path_abandon
        + frames.path_status_available
        + frames.path_status_backup
        + frames.max_path_id
        + frames.paths_blocked
        + frames.observed_addr;
    let ends = frames.connection_close + frames.reset_stream + frames.stop_sending;
    handshake + data + limits + ids + paths + ends + frames.ack_frequency + frames.immediate_ack
}
